package main

import (
	"errors"
	"fmt"
	"go/ast"
	"go/constant"
	"go/parser"
	"go/token"
	"strconv"
)

const maxExpression = 200 // bytes: enough for arithmetic, too little to be kept busy with

// calculate computes an expression of numbers, + - * / and parentheses. It computes with fractions, so that 0.1 + 0.2 is
// 0.3.
func calculate(expression string) (string, error) {
	if len(expression) > maxExpression {
		return "", fmt.Errorf("the expression is longer than %d bytes", maxExpression)
	}
	tree, err := parser.ParseExpr(expression)
	if err != nil {
		return "", fmt.Errorf("not an expression: %w", err)
	}
	v, err := value(tree)
	if err != nil {
		return "", err
	}
	if f, _ := constant.Float64Val(v); v.Kind() == constant.Float {
		return strconv.FormatFloat(f, 'f', -1, 64), nil
	}

	return v.ExactString(), nil
}

func value(e ast.Expr) (constant.Value, error) {
	switch e := e.(type) {
	case *ast.BasicLit:
		if e.Kind == token.INT || e.Kind == token.FLOAT {
			return constant.MakeFromLiteral(e.Value, e.Kind, 0), nil
		}
	case *ast.ParenExpr:
		return value(e.X)
	case *ast.UnaryExpr:
		if e.Op == token.ADD || e.Op == token.SUB {
			x, err := value(e.X)
			if err != nil {
				return nil, err
			}

			return constant.UnaryOp(e.Op, x, 0), nil
		}
	case *ast.BinaryExpr:
		return binary(e)
	}

	return nil, errors.New("only numbers, + - * / and parentheses can be computed")
}

func binary(e *ast.BinaryExpr) (constant.Value, error) {
	x, err := value(e.X)
	if err != nil {
		return nil, err
	}
	y, err := value(e.Y)
	if err != nil {
		return nil, err
	}
	switch e.Op {
	case token.QUO:
		if constant.Sign(y) == 0 {
			return nil, errors.New("division by zero")
		}
	case token.ADD, token.SUB, token.MUL:
	default:
		return nil, fmt.Errorf("the operator %s is not one of + - * /", e.Op)
	}

	return constant.BinaryOp(x, e.Op, y), nil
}
